//! What a command may access: the kernel against every way around the scope that we know.

use std::{fs, os::unix::fs::symlink};

use protocol::{Access, ScopeRule};

use crate::stage::Stage;

pub(crate) async fn a_command_reads_and_writes_in_its_scope() {
    let stage = Stage::new();
    let said = stage
        .says("cat a src/b; echo new > src/n; mkdir -p x/y; mv src/n x/y/n; ln x/y/n x/h; ln -s n x/y/s; rm a; cat x/y/s; : > src/b; rm -r lent; ls")
        .await;
    assert_eq!(said, "text of pod/a\ntext of pod/src/b\nnew\nsecret\nsrc\nx\n");
    assert_eq!(fs::read(stage.path("pod/src/b")).unwrap(), b"");
}

pub(crate) async fn nothing_outside_of_the_scope_is_read_or_written() {
    let stage = Stage::new();
    let commands = [
        "cat ../outside/e",
        "ls ../outside",
        "ls ..",
        "echo x > ../outside/new",
        "echo x >> ../outside/e",
        "truncate -s 0 ../outside/e",
        "rm ../outside/e",
        "mv ../outside/e e",
        "mv a ../outside/a",
        "ln ../outside/e e",
        "mkdir ../new",
        "mv ../pod ../pod2",
        "echo x > /usr/yoi-test",
        "echo x > /etc/yoi-test",
        "echo x > /tmp/yoi-test",
        "mknod device c 1 3",
        "cat /proc/1/root/etc/passwd",
        "cat /proc/$PPID/cwd/etc/passwd",
    ];
    for command in commands {
        stage.is_refused(command).await;
    }
    assert_eq!(fs::read_to_string(stage.path("outside/e")).unwrap(), "text of outside/e\n");
    assert_eq!(fs::read_dir(stage.path("outside")).unwrap().count(), 1);
}

pub(crate) async fn a_link_in_the_scope_leads_nowhere_else() {
    let stage = Stage::new();
    symlink(stage.path("outside"), stage.path("pod/link")).unwrap();
    symlink(stage.path("outside/e"), stage.path("pod/file")).unwrap();
    for command in
        ["cat link/e", "cat file", "echo x > file", "ls link/", "cp -L file copy", "ln -s ../outside l; cat l/e"]
    {
        stage.is_refused(command).await;
    }
}

pub(crate) async fn a_granted_path_that_became_a_link_grants_nothing() {
    let mut stage = Stage::new();
    stage.rules = vec![stage.rule("pod", Access::Write), stage.rule("pod2", Access::Write)];
    symlink(stage.path("outside"), stage.path("pod2")).unwrap();
    stage.is_refused("cat ../outside/e").await;
    stage.is_refused("cat ../pod2/e").await;
    stage.rules = vec![stage.rule("pod", Access::Write), stage.rule("way/outside", Access::Read)];
    symlink(stage.root.path(), stage.path("way")).unwrap();
    stage.is_refused("cat ../outside/e").await;
}

pub(crate) async fn a_reading_grant_is_not_written() {
    let mut stage = Stage::new();
    stage.rules = vec![stage.rule("pod", Access::Read), stage.rule("pod/src", Access::Write)];
    assert_eq!(stage.says("cat a; echo x > src/b; cat src/b; ls").await, "text of pod/a\nx\na\nlent\nsecret\nsrc\n");
    for command in
        ["echo x > a", "rm a", "mv src/b b", "rmdir src", "truncate -s 0 a", "chmod 600 nothing 2>&1; touch new"]
    {
        stage.is_refused(command).await;
    }
}

pub(crate) async fn a_denied_part_is_neither_read_nor_written() {
    let mut stage = Stage::new();
    fs::write(stage.path("pod/src/.env"), "KEY=1\n").unwrap();
    symlink("src/.env", stage.path("pod/by_link")).unwrap();
    stage.rules.push(stage.rule("pod/secret", Access::Deny));
    stage.rules.push(stage.rule("pod/src/.env", Access::Deny));
    let commands = [
        "cat secret/d",
        "echo x > secret/d",
        "echo x > secret/n",
        "rm secret/d",
        "mv secret s2",
        "cat src/.env",
        "cat by_link",
        "rm src/.env",
        "mv src/.env src/e",
        "ln src/.env src/e",
        "mv src s2",
        "mv secret/d a",
        "rm -r src",
        "cat $PWD/secret/d",
        "cat /proc/self/cwd/secret/d",
        "echo x > new",
        "echo x > src/new",
    ];
    for command in commands {
        stage.is_refused(command).await;
    }
    assert_eq!(
        stage.says("cat a src/b; echo x > src/b; echo y > a; mkdir lent/n; ls; ls src").await.lines().count(),
        8
    );
    assert_eq!(fs::read_to_string(stage.path("pod/secret/d")).unwrap(), "text of pod/secret/d\n");

    // A denied link also denies its target.
    symlink(stage.path("pod/lent"), stage.path("pod/src/link")).unwrap();
    stage.rules.push(stage.rule("pod/src/link", Access::Deny));
    stage.is_refused("cat lent/c").await;
    // Not recursive: the folder's own files, but not those in its subfolders.
    stage.rules =
        vec![stage.rule("pod", Access::Write), ScopeRule { recursive: false, ..stage.rule("pod/lent", Access::Deny) }];
    fs::write(stage.path("pod/lent/deep/f"), "deep\n").unwrap();
    stage.is_refused("cat lent/c").await;
    assert_eq!(stage.says("cat lent/deep/f").await, "deep\n");
}

pub(crate) async fn a_denial_of_the_system_is_kept() {
    let mut stage = Stage::new();
    stage.says("cat /etc/passwd").await;
    stage.rules.push(ScopeRule { path: "/etc/passwd".to_owned(), access: Access::Deny, recursive: true });
    stage.is_refused("cat /etc/passwd").await;
    stage.says("cat /etc/group").await;
}

pub(crate) async fn what_is_lent_is_read_and_not_written_moved_or_removed() {
    let mut stage = Stage::new();
    stage.lent = vec![stage.rule("pod/lent", Access::Write)];
    let commands = [
        "echo x > lent/c",
        "echo x > lent/new",
        "rm lent/c",
        "rm -r lent",
        "mv lent l2",
        "rmdir lent/deep",
        "mv lent/c c",
        "mv a lent/a",
        "ln lent/c c",
        "ln a lent/a",
        "truncate -s 0 lent/c",
        "mv lent src/lent",
        "mkdir l2 && mv -T l2 lent",
        "cd lent && touch x",
        "mv ../pod ../p",
    ];
    for command in commands {
        stage.is_refused(command).await;
    }
    assert_eq!(
        stage.says("cat lent/c; ls lent; echo x > a; rm src/b; touch src/n").await,
        "text of pod/lent/c\nc\ndeep\n"
    );
    // All of it is lent: nothing is written.
    stage.lent = vec![stage.rule("pod", Access::Write)];
    stage.is_refused("echo x > a").await;
    assert_eq!(stage.says("cat a").await, "x\n");
}

pub(crate) async fn a_rule_that_is_not_recursive_grants_the_files_of_its_folder() {
    let mut stage = Stage::new();
    stage.rules = vec![ScopeRule { recursive: false, ..stage.rule("pod", Access::Write) }];
    assert_eq!(stage.says("echo x > a; cat a; ls").await, "x\na\nlent\nsecret\nsrc\n");
    for command in ["cat src/b", "echo x > src/b", "echo x > new", "rm a", "touch src/n"] {
        stage.is_refused(command).await;
    }
}

pub(crate) async fn git_works_in_a_scope() {
    let stage = Stage::new();
    let said = stage.says("git init -q . && git add a && git -c user.name=n -c user.email=e commit -qm m && git status -s && git log --oneline | wc -l").await;
    assert!(said.ends_with("1\n"), "{said}");
}

pub(crate) async fn the_tool_chain_of_the_user_works_in_a_scope() {
    let stage = Stage::new();
    // The build folder of this test is outside the scope.
    let build = "unset CARGO_TARGET_DIR; cargo init -q --vcs none --name hello src && cd src && cargo run -q --offline";
    let said = stage.says(build).await;
    assert!(said.ends_with("Hello, world!\n"), "{said}");
}
