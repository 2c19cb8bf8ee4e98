"""The server: the listener over HTTP, server-sent events, WebSocket and the OpenAI protocol."""
