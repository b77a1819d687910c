"""An executor in Python: reverses texts at /turn, fails at /fail, and returns a result at /count.

Arguments: the folder of the stubs. Prints its port, and exits when its standard input ends.
"""
import sys
import traceback
from concurrent import futures

sys.path.insert(0, sys.argv[1])
import grpc
import jina_pb2
import jina_pb2_grpc


class Turn(jina_pb2_grpc.JinaSingleDataRequestRPCServicer, jina_pb2_grpc.JinaDiscoverEndpointsRPCServicer):
    def process_single_data(self, request, context):
        metadata = dict(context.invocation_metadata())
        try:
            if request.header.exec_endpoint == "/turn":
                for doc in request.data.docs.docs:
                    doc.text = doc.text[::-1]
                    doc.tags["request_id"] = metadata.get("x-request-id", "")
                    doc.tags["endpoint"] = metadata.get("endpoint", "")
                    doc.tags["key"] = metadata.get("key", "")
            elif request.header.exec_endpoint == "/count":
                request.parameters["__results__"] = {"turn/rep-0": {"count": len(request.data.docs.docs)}}
            elif request.header.exec_endpoint == "/fail":
                raise ValueError("boom", 42)
        except ValueError as error:
            status = request.header.status
            status.code = jina_pb2.StatusProto.ERROR
            status.description = repr(error)
            status.exception.name = type(error).__name__
            status.exception.args.extend(str(one) for one in error.args)
            status.exception.stacks.extend(traceback.format_exception(error))
            status.exception.executor = "Turn"
            context.set_trailing_metadata((("is-error", "true"),))
        return request

    def endpoint_discovery(self, request, context):
        return jina_pb2.EndpointsProto(endpoints=["/turn", "/count", "/fail", "_jina_dry_run_"])


class Info(jina_pb2_grpc.JinaInfoRPCServicer):
    def _status(self, request, context):
        return jina_pb2.JinaInfoProto(jina={"jina": "test"})


server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
turn = Turn()
jina_pb2_grpc.add_JinaSingleDataRequestRPCServicer_to_server(turn, server)
jina_pb2_grpc.add_JinaDiscoverEndpointsRPCServicer_to_server(turn, server)
jina_pb2_grpc.add_JinaInfoRPCServicer_to_server(Info(), server)
port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(port, flush=True)
sys.stdin.read()
server.stop(0)
