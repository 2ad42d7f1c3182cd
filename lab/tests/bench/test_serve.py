import asyncio
import os

from live_cases import walk_model
from live_server import served

from kmcf_lab.bench.serve import Client, load
from kmcf_lab.bench.serve_process import children_of, processor_seconds, resident_megabytes
from kmcf_lab.commands.bench_serve import WORDS, as_markdown


def test_clients_count_what_they_are_told():
    model, _ = walk_model()
    clients = [Client("a"), Client("b"), Client("c")]
    with served(model) as server:
        asyncio.run(load(server.port, clients, 6, rate=300.0, seed=0))
        for client in clients:
            assert (client.sent, client.answered, client.refused, client.out_of_order) == (6, 6, 0, 0)
            assert len(client.waits) == 6
            assert min(client.waits) > 0.0
            assert server.get(f"/v1/objects/{client.name}").json()["step"] == 6
        again = [Client("a", answered_before=6), Client("b", answered_before=3)]
        asyncio.run(load(server.port, again, 2, rate=300.0, seed=0))
    assert (again[0].answered, again[0].out_of_order) == (2, 0)
    assert again[1].refused == 2  # its steps 4 and 5 were made long ago


def test_what_a_process_uses():
    before = processor_seconds(os.getpid())
    sum(range(3_000_000))
    assert processor_seconds(os.getpid()) > before
    assert 10.0 < resident_megabytes(os.getpid()) < 100_000.0
    assert os.getpid() not in children_of(os.getpid())


def test_the_page_has_every_number():
    rows = {name: [k, k + 1] if name == "memory_mb" else k for k, name in enumerate(WORDS)}
    sizes = {"examples": 1000, "processes": 2, "clients": 50, "rate": 1000.0, "seconds": 60.0}
    page = as_markdown(rows, sizes, "kmcf bench serve")
    assert all(f"| {words} | " in page for words in WORDS.values())
    assert "    kmcf bench serve\n" in page
