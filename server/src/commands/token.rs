use anyhow::{Result, bail};
use secrecy::ExposeSecret;
use serde_json::json;

use crate::{
    cli::TokenOptions,
    config::{ClientConfig, Environment},
    options::CommonOptions,
    output,
};

/// Prints the token from YOI_TOKEN or the data folder, or the name of a file with the header that contains it.
pub(crate) fn token(options: &TokenOptions, common: &CommonOptions, environment: &Environment) -> Result<()> {
    let config = ClientConfig::load(common, environment)?;
    let found = match config.token {
        Some(token) => Some(token),
        None => crate::token::read(&config.data)?,
    };
    let Some(token) = found else {
        bail!("no token in {}; the first start of yoi creates one", config.data.display());
    };
    if options.header {
        let file = crate::token::write_header(&config.data, &token)?;
        return match config.json {
            true => output::json(&json!({ "header_file": file })),
            false => output::line(&file.display().to_string()),
        };
    }
    match config.json {
        true => output::json(&json!({ "token": token.expose_secret() })),
        false => output::line(token.expose_secret()),
    }
}
