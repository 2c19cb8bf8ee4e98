"""`python ray_server.py DATABASE PORT`: two replicas with the echoing listener behind Ray Serve."""

from __future__ import annotations

import sys
from functools import partial

from allears.serve.ray import serve_with_ray
from allears.serve.settings import ServerSettings
from echo_listener import Echo
from serving import ANNA, BEN

if __name__ == "__main__":
    database, port = sys.argv[1:]
    settings = ServerSettings(port=int(port), tokens=(ANNA, BEN), rate=1000, burst=1000)
    serve_with_ray(partial(Echo, 0.01), settings, database, 2, say=partial(print, flush=True))
