use anyhow::{Result, bail};
use secrecy::ExposeSecret;

use crate::{
    cli::CommonOptions,
    config::{ClientConfig, Environment},
    output,
};

/// Prints the token that YOI_TOKEN or the data folder holds.
pub(crate) fn token(common: &CommonOptions, environment: &Environment) -> Result<()> {
    let config = ClientConfig::load(common, environment)?;
    let found = match config.token {
        Some(token) => Some(token),
        None => crate::token::read(&config.data)?,
    };
    let Some(token) = found else {
        bail!("there is no token in {}; the first start of yoi makes one", config.data.display());
    };
    match config.json {
        true => output::json(&serde_json::json!({ "token": token.expose_secret() })),
        false => output::line(token.expose_secret()),
    }
}
