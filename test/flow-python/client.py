"""Calls a flow over gRPC with stubs generated from its .proto, and prints the responses as JSON.

Arguments: the folder of the stubs, the address, the command. All further input is JSON on standard input.
"""
import json
import sys

sys.path.insert(0, sys.argv[1])
import grpc

# The stubs for health are in a package with the same name as the library.
grpc.__path__.append(sys.argv[1] + "/grpc")
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import MessageToDict
import docarray_pb2
import jina_pb2
import jina_pb2_grpc
from grpc.health.v1 import health_pb2, health_pb2_grpc


def request_of(given):
    request = jina_pb2.DataRequestProto()
    request.header.request_id = given.get("id", "")
    request.header.exec_endpoint = given["endpoint"]
    request.parameters.update(given.get("parameters", {}))
    for one in given.get("docs", []):
        doc = request.data.docs.docs.add(id=one.get("id", ""))
        if "text" in one:
            doc.text = one["text"]
        if "uri" in one:
            doc.uri = one["uri"]
        if "half" in one:
            doc.embedding.cls_name = "numpy"
            doc.embedding.dense.buffer = bytes.fromhex(one["half"])
            doc.embedding.dense.shape.extend([len(one["half"]) // 4])
            doc.embedding.dense.dtype = "<f2"
    if "pickle" in given:
        request.data.docs_bytes = bytes.fromhex(given["pickle"])
    return request


def shown(message):
    return MessageToDict(message, preserving_proto_field_name=True)


def unary(channel, given):
    return [shown(jina_pb2_grpc.JinaSingleDataRequestRPCStub(channel).process_single_data(request_of(one))) for one in given]


def stream(channel, given):
    call = jina_pb2_grpc.JinaRPCStub(channel).Call
    metadata = (("__results_in_order__", "true"), ("__prefetch__", "2"))
    return [shown(one) for one in call((request_of(one) for one in given), metadata=metadata)]


def about(channel, _):
    health = health_pb2_grpc.HealthStub(channel)
    codes = {}
    for service in ("", "jina.JinaRPC", "jina.Nothing"):
        try:
            codes[service] = health.Check(health_pb2.HealthCheckRequest(service=service)).status
        except grpc.RpcError as error:
            codes[service] = error.code().name
    try:
        jina_pb2_grpc.JinaDataRequestRPCStub(channel).process_data(jina_pb2.DataRequestListProto())
        unknown = "OK"
    except grpc.RpcError as error:
        unknown = error.code().name
    return {
        "dry_run": shown(jina_pb2_grpc.JinaGatewayDryRunRPCStub(channel).dry_run(Empty())),
        "info": shown(jina_pb2_grpc.JinaInfoRPCStub(channel)._status(Empty())),
        "health": codes,
        "unknown": unknown,
    }


COMPRESSIONS = {"gzip": grpc.Compression.Gzip, "deflate": grpc.Compression.Deflate}
what, _, compression = sys.argv[3].partition("+")
with grpc.insecure_channel(sys.argv[2], compression=COMPRESSIONS.get(compression)) as channel:
    json.dump({"unary": unary, "stream": stream, "about": about}[what](channel, json.load(sys.stdin)), sys.stdout)
