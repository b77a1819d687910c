"""The gRPC client of generation 3, and the calls that a gateway sends to an executor.

Arguments: the folder of the stubs, the address of the server. Prints the responses as JSON.
"""
import json
import sys
import uuid

sys.path.insert(0, sys.argv[1])
import grpc

# The stubs for health and reflection are in a package with the same name as the library.
grpc.__path__.append(sys.argv[1] + "/grpc")
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.empty_pb2 import Empty
import jina_pb2
import jina_pb2_grpc
from grpc.health.v1 import health_pb2, health_pb2_grpc
from grpc.reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

#: The services that gateways of all versions from 3.9 on have stubs for.
STUBS = {
    "jina.JinaDataRequestRPC": jina_pb2_grpc.JinaDataRequestRPCStub,
    "jina.JinaSingleDataRequestRPC": jina_pb2_grpc.JinaSingleDataRequestRPCStub,
    "jina.JinaDiscoverEndpointsRPC": jina_pb2_grpc.JinaDiscoverEndpointsRPCStub,
    "jina.JinaInfoRPC": jina_pb2_grpc.JinaInfoRPCStub,
    "jina.JinaRPC": jina_pb2_grpc.JinaRPCStub,
}
REFLECTION = "grpc.reflection.v1alpha.ServerReflection"
OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.keepalive_time_ms", 9999),
    ("grpc.keepalive_timeout_ms", 4999),
    ("grpc.keepalive_permit_without_calls", True),
    ("grpc.http2.max_pings_without_data", 0),
)


def request_of(endpoint, texts=()):
    request = jina_pb2.DataRequestProto()
    request.header.request_id = uuid.uuid4().hex
    request.header.exec_endpoint = endpoint
    request.parameters.update({"__results__": {}})
    for text in texts:
        request.data.docs.docs.add(id=uuid.uuid4().hex, text=text)
    return request


def reflect(channel, **question):
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    asked = iter([reflection_pb2.ServerReflectionRequest(**question)])
    # The loop ends only if the server ends the call.
    return [answer for answer in stub.ServerReflectionInfo(asked)][-1]


def stubs_of(channel):
    """Fails on an unknown name, as a gateway does."""
    listed = [service.name for service in reflect(channel, list_services="").list_services_response.service]
    return {name: STUBS[name](channel) for name in listed if name != REFLECTION}


def described(channel):
    """The methods of a service, from descriptors that are available only by reflection."""
    files = reflect(channel, file_containing_symbol="jina.JinaRPC").file_descriptor_response.file_descriptor_proto
    pool = DescriptorPool()
    for bytes_of_file in reversed(files):
        pool.Add(FileDescriptorProto.FromString(bytes_of_file))
    header = pool.FindMessageTypeByName("jina.HeaderProto")
    scores = pool.FindMessageTypeByName("docarray.DocumentProto").fields_by_name["scores"]
    return {
        "methods": [method.name for method in pool.FindServiceByName("jina.JinaRPC").methods],
        "optional": header.fields_by_name["exec_endpoint"].has_presence,
        "map": scores.message_type.GetOptions().map_entry,
    }


def as_executor(channel):
    stubs = stubs_of(channel)
    endpoints = stubs["jina.JinaDiscoverEndpointsRPC"].endpoint_discovery(Empty()).endpoints
    single = stubs["jina.JinaSingleDataRequestRPC"].process_single_data
    answer, call = single.with_call(request_of("/index", ["a"]), metadata=(("endpoint", "/index"),))
    _, failed = single.with_call(request_of("/fail", ["a"]), metadata=(("endpoint", "/fail"),))
    return {
        "services": sorted(stubs),
        "endpoints": [name for name in ("/index", "/default", "_jina_dry_run_") if name in endpoints],
        "texts": [doc.text for doc in answer.data.docs.docs],
        "trailers": [dict(one.trailing_metadata()).get("is-error") for one in (call, failed)],
        "version": stubs["jina.JinaInfoRPC"]._status(Empty()).jina["jina"],
    }


def main(address):
    with grpc.insecure_channel(address, options=OPTIONS) as channel:
        requests = [request_of("/index", [f"{at}"]) for at in range(20)]
        with_match = request_of("/none", ["x"])
        with_match.data.docs.docs[0].matches.add(id="m1")
        with_match.data.docs.docs[0].matches.add(id="m2", granularity=3)
        requests.append(with_match)
        answers = {answer.header.request_id: answer for answer in jina_pb2_grpc.JinaRPCStub(channel).Call(iter(requests))}
        in_order = [answers[request.header.request_id] for request in requests]
        health = health_pb2_grpc.HealthStub(channel)
        return {
            "ready": jina_pb2_grpc.JinaGatewayDryRunRPCStub(channel).dry_run(Empty()).code,
            "texts": [doc.text for answer in in_order[:3] for doc in answer.data.docs.docs],
            "granularity": [match.granularity for match in in_order[-1].data.docs.docs[0].matches],
            "health": [health.Check(health_pb2.HealthCheckRequest(service=name)).status for name in ("", "jina.JinaRPC")],
            "executor": as_executor(channel),
            "described": described(channel),
        }


print(json.dumps(main(sys.argv[2])))
