// A browser goes to a link or opens a file that is dropped on a page, and the page is gone. Here it does nothing, but in a field,
// where a text is put as if it was typed, and at the message field, where files are attached. A row of the list that is dragged is the page's own.
(() => {
  let isRow = false;
  addEventListener("dragstart", (event) => (isRow = !!event.target.closest?.("[data-row]")));
  addEventListener("dragend", () => (isRow = false));
  const refuse = (event) => {
    const kinds = event.dataTransfer?.types ?? [];
    const isText = kinds.includes("text/plain") && !kinds.includes("Files") && event.target.closest?.(":read-write");
    if (isRow || isText) return;
    if (kinds.includes("Files") && event.target.closest?.(".composer-box")) return event.preventDefault();
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = "none";
  };
  addEventListener("dragover", refuse);
  addEventListener("drop", refuse);
})();
