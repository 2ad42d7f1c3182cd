"""A server in a thread of its own, for tests that speak to it over real connections."""

import asyncio
import json
import threading
from contextlib import contextmanager

import httpx

from kmcf.live.server import Address, desk_for, server_for
from kmcf.live.service import Service


@contextmanager
def serving(service, **address):
    """Run a service; yield its port."""
    server, listening = server_for(service.app, Address(port=0, **address))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            thread.join(0.005)
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
        assert not thread.is_alive()


@contextmanager
def served(model, limits=None, state=None, processes=1, **address):
    """Serve a model; yield a client that has the service as an attribute."""
    service = Service(model, desk_for(model, limits, state, processes))
    with serving(service, **address) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        client.service, client.port = service, port
        yield client


def post(client, name, observation, **more):
    return client.post(f"/v1/objects/{name}/observations", content=json.dumps({"observation": observation, **more}))
