"""The HTTP client of generation 3: sends the whole request in the body, and rejects a response with an unknown key.

Arguments: the URL. Prints the responses as JSON.
"""
import asyncio
import json
import sys
import uuid

import aiohttp

ANSWER = {"header", "parameters", "routes", "data"}
HEADER = {"requestId", "status", "execEndpoint", "targetExecutor", "timeout"}
ROUTE = {"executor", "startTime", "endTime", "status"}
STATUS = {"code", "description", "exception"}


class BadServer(Exception):
    pass


def refuse_unknown(name, found, known):
    if set(found) - known:
        raise ValueError(f"{name} has unknown keys: {sorted(set(found) - known)}")


def body_of(docs, endpoint, parameters=None, target=None):
    return {
        "header": {"requestId": uuid.uuid4().hex, "execEndpoint": endpoint},
        "parameters": {"__results__": {}, **(parameters or {})},
        "routes": [{"executor": "gateway", "startTime": None, "endTime": None, "status": None}],
        "data": {"docs": docs} if docs is not None else None,
        "targetExecutor": target,
        "execEndpoint": endpoint,
    }


async def post(session, url, body):
    async with session.post(f"{url}/post", json=body) as response:
        text = await response.text()
        if response.status == 404:
            raise BadServer(f"no such endpoint {url}")
        if response.status in (503, 504):
            raise ConnectionError(json.loads(text)["header"]["status"]["description"])
        if not 200 <= response.status < 300:
            raise ValueError(text)
        answer = json.loads(text)
    refuse_unknown("the answer", answer, ANSWER)
    refuse_unknown("the header", answer["header"], HEADER)
    for route in answer["routes"]:
        refuse_unknown("a route", route, ROUTE)
    if answer["header"]["status"]:
        refuse_unknown("the status", answer["header"]["status"], STATUS)
    if not isinstance(answer["data"], list):
        raise ValueError("data is no list")
    return answer


async def main(url):
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{url}/dry_run") as response:
            ready = (await response.json())["code"] == 0
        docs = [{"id": f"d{at}", "text": "a", "mime_type": None, "tags": {"n": at}} for at in range(5)]
        parts = [await post(session, url, body_of(docs[at : at + 2], "/index")) for at in range(0, 5, 2)]
        nested = [{"id": "r", "matches": [{"id": "m1"}, {"id": "m2", "granularity": 3}]}]
        matches = (await post(session, url, body_of(nested, "/none")))["data"][0]["matches"]
        failed = await post(session, url, body_of([{"text": "kept"}], "/fail"))
        return {
            "ready": ready,
            "texts": [doc["text"] for part in parts for doc in part["data"]],
            "parameters": (await post(session, url, body_of([{"text": "a"}], "/index", {"marker__mark": "+"})))["data"][0]["text"],
            "target": (await post(session, url, body_of([{"text": "a"}], "/index", target="nobody")))["data"][0]["text"],
            "empty": (await post(session, url, body_of(None, "/index")))["data"],
            "results": (await post(session, url, body_of([{}], "/result")))["parameters"]["__results__"],
            "failure": [failed["header"]["status"]["code"], failed["header"]["status"]["exception"]["name"]],
            "granularity": [match["granularity"] for match in matches],
        }


print(json.dumps(asyncio.run(main(sys.argv[1]))))
