"""Clients of generations 1 and 2: REST, WebSocket with bytes, and gRPC.

Arguments: the folder of the stubs, the URL, the gRPC address. Prints the responses as JSON.
"""
import asyncio
import json
import sys
import uuid

sys.path.insert(0, sys.argv[1])
import aiohttp
import grpc
import old_v1_pb2 as v1
import old_v2_pb2 as v2
import websockets


async def rest(url):
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{url}/api/search", json={"top_k": 10, "mode": "search", "data": ["a"]}) as response:
            found = await response.json()
        async with session.post(f"{url}/api/CONTROL", json={"data": [], "command": "STATUS"}) as response:
            status = (await response.json())["status"]
        async with session.get(f"{url}/status") as response:
            version = (await response.json())["jina"]["jina"]
    return {
        "kind": sorted(set(found) & {"search", "index"}),
        "texts": [doc["text"] for doc in found["search"]["docs"]],
        "pods": [route["pod"] for route in found["routes"] if route["startTime"] and route["endTime"]],
        "status": status,
        "version": version,
    }


def requests_v1():
    index = v1.Request(request_id=str(uuid.uuid4()))
    doc = index.index.docs.add(id="d1", text="a", weight=1)
    doc.embedding.dense.buffer = b"\0\0\x80\x3f"
    doc.embedding.dense.shape.append(1)
    doc.embedding.dense.dtype = "<f4"
    index.queryset.add(name="SliceQL", priority=1).parameters.update({"end": 3})
    delete = v1.Request(request_id=str(uuid.uuid4()))
    delete.delete.ids.extend(["d1", "d2"])
    status = v1.Request(request_id=str(uuid.uuid4()))
    status.control.command = 1
    return [index, delete, status]


def told_v1(index, delete, status):
    (doc,) = index.index.docs
    return {
        "texts": [doc.text],
        "array": [doc.embedding.dense.buffer.hex(), list(doc.embedding.dense.shape), doc.embedding.dense.dtype],
        "hash": len(doc.content_hash),
        "queryset": [query.name for query in index.queryset],
        "pods": [route.pod for route in index.routes if route.HasField("end_time")],
        "ids": list(delete.delete.ids),
        "status": v1.Status.Code.Name(status.status.code),
    }


async def socket_v1(url):
    """Counts the responses, and disconnects when all have arrived."""
    requests = requests_v1()
    answers = []
    async with websockets.connect(f"{url}/stream", max_size=None) as socket:

        async def send():
            for request in requests:
                await socket.send(request.SerializeToString())
            await socket.send(bytes(True))

        sending = asyncio.create_task(send())
        async for frame in socket:
            answers.append(v1.Request.FromString(frame))
            if len(answers) == len(requests):
                break
        await sending
    assert [answer.request_id for answer in answers] == [request.request_id for request in requests]
    return told_v1(*answers)


def request_v2(endpoint):
    request = v2.Request(request_id=str(uuid.uuid4()))
    request.data.docs.add(id="d1", text="a")
    request.header.exec_endpoint = endpoint
    request.parameters.update({"mark": "+"})
    return request


def told_v2(answer):
    return {
        "texts": [doc.text for doc in answer.data.docs],
        "endpoint": answer.header.exec_endpoint,
        "code": answer.status.code,
        "pods": [route.pod for route in answer.routes],
    }


async def socket_v2(url):
    """Waits for the server to close the connection."""
    request = request_v2("/foo")
    async with websockets.connect(url, max_size=None) as socket:
        await socket.send(request.SerializeToString())
        await socket.send(bytes(True))
        answers = [v2.Request.FromString(frame) async for frame in socket]
        code = socket.close_code
    assert [answer.request_id for answer in answers] == [request.request_id]
    return {**told_v2(answers[0]), "close": code}


def over_grpc(address):
    with grpc.insecure_channel(address) as channel:

        def call(message, requests):
            method = channel.stream_stream("/jina.JinaRPC/Call", message.SerializeToString, message.FromString)
            answers = {answer.request_id: answer for answer in method(iter(requests))}
            return [answers[request.request_id] for request in requests]

        return {
            "v1": told_v1(*call(v1.Request, requests_v1())),
            "v2": [told_v2(answer) for answer in call(v2.Request, [request_v2("/foo"), request_v2("/fail")])],
        }


async def main(url, address):
    socket = url.replace("http", "ws")
    return {
        "rest": await rest(url),
        "v1": await socket_v1(socket),
        "v2": await socket_v2(socket),
        "grpc": over_grpc(address),
    }


print(json.dumps(asyncio.run(main(*sys.argv[2:]))))
