"""`allears serve`: the listener for other programs, and for other people."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from allears.cli.options import Bundle, Port, Quiet, flag, optional, value
from allears.cli.output import say
from allears.cli.progress import watched
from allears.errors import AllearsError


def serve(
    *,
    host: str = value("127.0.0.1", "Where to listen. Any other address needs a token."),
    port: Port = 8377,
    token: list[str] = value(
        [], "An access token; each is one person.", envvar="ALLEARS_TOKEN", show_default=False
    ),
    token_file: Path | None = optional("A file with a token a line, which no process list shows."),
    metrics_token: str | None = optional("Opens /api/metrics.", envvar="ALLEARS_METRICS_TOKEN"),
    salt: str = value(
        "", "Goes into people's ids: the same on each start.", envvar="ALLEARS_SALT", show_default=False
    ),
    database: str | None = optional(
        "A file or postgresql://... Default: a file in your data folder.", envvar="ALLEARS_DATABASE"
    ),
    allow_host: list[str] = value([], "A name this server answers to; may be given several times."),
    origin: list[str] = value([], "A web page elsewhere that may use this server, as https://example.org."),
    batching: bool = value(True, "Answer people together."),
    batch_size: int = value(16, "How many messages at most.", min=1),
    rate: float = value(5.0, "Requests a second and person, in the long run.", min=0.01),
    burst: int = value(60, "Requests at once and person.", min=1),
    bundle: Bundle = "default",
    pool: list[Path] = value([], "Replies of your own beside the shipped ones."),
    country: str | None = optional("Whose help lines to name, as in GB."),
    voice: list[str] = value(
        [],
        "Who answers, as in `allears chat --voice`. May be given several times, for people to choose from; the "
        "first is the default.",
        show_default=False,
    ),
    ray: bool = flag("--ray", "Many replicas behind Ray Serve; needs PostgreSQL."),
    replicas: int = value(2, "How many, with --ray.", min=1),
    quiet: Quiet = False,
) -> None:
    """Serve conversations over HTTP, WebSocket and OpenAI's protocol. Only this machine can reach them by default.

    \b
    allears serve
    allears serve --host 0.0.0.0 --token-file tokens.txt --database postgresql://localhost/allears
    allears serve --voice default --voice chosen --voice runs/pal
    allears serve --ray --replicas 4 --database postgresql://localhost/allears
    """
    from allears.memory import Memory
    from allears.serve.app import create_app
    from allears.serve.loading import shipped_voices
    from allears.serve.run import address, listen, log_to_standard_error, run
    from allears.serve.settings import ServerSettings

    settings = ServerSettings(
        host=host,
        port=port,
        tokens=(*token, *_tokens_in(token_file)),
        metrics_token=metrics_token,
        salt=salt,
        hosts=tuple(allow_host),
        origins=tuple(origin),
        batching=batching,
        batch_size=batch_size,
        rate=rate,
        burst=burst,
    )
    log_to_standard_error(quiet=quiet)
    load = partial(shipped_voices, bundle, tuple(map(str, pool)), country, tuple(voice))
    if ray:
        from allears.serve.ray import serve_with_ray

        serve_with_ray(load, settings, database, replicas, say=say)
        return
    with listen(settings) as opened, Memory(database) as memory:
        app = create_app(load(watch=watched), memory, settings)
        who = f"{len(settings.tokens)} people's tokens" if settings.tokens else "this machine only"
        say(f"listening on {address(opened)} ({who}); conversations in {memory.place}")
        run(app, settings, opened)


def _tokens_in(file: Path | None) -> list[str]:
    if file is None:
        return []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AllearsError(f"{file}: cannot read the tokens; expected a text file with one a line") from error
    tokens = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not tokens:
        raise AllearsError(f"{file}: there is no token in it; write one a line")
    return tokens
