"""The WebSocket client of generation 3: binary frames over one connection, which the server closes.

Matches responses by id.

Arguments: the folder of the stubs, the URL. Prints the responses as JSON.
"""
import asyncio
import json
import sys
import uuid

sys.path.insert(0, sys.argv[1])
import jina_pb2
import websockets


def request_of(endpoint, texts, **fields):
    request = jina_pb2.DataRequestProto()
    request.header.request_id = uuid.uuid4().hex
    request.header.exec_endpoint = endpoint
    request.parameters.update({"__results__": {}, **fields})
    for text in texts:
        request.data.docs.docs.add(id=uuid.uuid4().hex, text=text)
    return request


async def is_ready(url):
    async with websockets.connect(f"{url}/dry_run", subprotocols=["bytes"]) as socket:
        status = jina_pb2.StatusProto()
        status.ParseFromString(await socket.recv())
        return status.code == jina_pb2.StatusProto.SUCCESS


async def send(socket, requests):
    for request in requests:
        await socket.send(request.SerializeToString())
    await socket.send(bytes(True))


async def main(url):
    requests = [request_of("/wait", ["slow"], ms=200)] + [request_of("/index", [f"{at}"]) for at in range(20)]
    with_match = request_of("/none", ["x"])
    with_match.data.docs.docs[0].matches.add(id="m1")
    with_match.data.docs.docs[0].matches.add(id="m2", granularity=3)
    requests += [with_match, request_of("/fail", ["kept"])]
    waiting = {request.header.request_id for request in requests}
    answers = {}
    async with websockets.connect(url, subprotocols=["bytes"], max_size=None) as socket:
        protocol = socket.subprotocol
        sending = asyncio.create_task(send(socket, requests))
        # Ends when the server closes the connection.
        async for frame in socket:
            answer = jina_pb2.DataRequestProto()
            answer.ParseFromString(frame)
            waiting.remove(answer.header.request_id)
            answers[answer.header.request_id] = answer
        await sending
        code = socket.close_code
    in_order = [answers[request.header.request_id] for request in requests]
    return {
        "ready": await is_ready(url),
        "protocol": protocol,
        "unanswered": len(waiting),
        "close": code,
        "texts": [doc.text for answer in in_order[1:4] for doc in answer.data.docs.docs],
        "granularity": [match.granularity for match in in_order[-2].data.docs.docs[0].matches],
        "failure": in_order[-1].header.status.exception.name,
        "routes": [route.executor for route in in_order[1].routes],
    }


print(json.dumps(asyncio.run(main(sys.argv[2]))))
