/**
 * The .proto files of the protocol (docs/reference/wire/flow.md, gRPC), served by reflection and usable to generate
 * clients. Each declaration is on one line, as the parser in `descriptors.ts` requires.
 */

const DOCARRAY = `syntax = "proto3";
package docarray;
import "google/protobuf/struct.proto";

message DenseNdArrayProto {
  bytes buffer = 1;
  repeated uint32 shape = 2;
  string dtype = 3;
}
message SparseNdArrayProto {
  DenseNdArrayProto indices = 1;
  DenseNdArrayProto values = 2;
  repeated uint32 shape = 3;
}
message NdArrayProto {
  oneof content {
    DenseNdArrayProto dense = 1;
    SparseNdArrayProto sparse = 2;
  }
  string cls_name = 3;
  google.protobuf.Struct parameters = 4;
}
message NamedScoreProto {
  float value = 1;
  string op_name = 2;
  string description = 3;
  string ref_id = 4;
}
message DocumentProto {
  string id = 1;
  oneof content {
    bytes blob = 2;
    NdArrayProto tensor = 3;
    string text = 4;
  }
  uint32 granularity = 5;
  uint32 adjacency = 6;
  string parent_id = 7;
  float weight = 8;
  string uri = 9;
  string modality = 10;
  string mime_type = 11;
  float offset = 12;
  repeated float location = 13;
  repeated DocumentProto chunks = 14;
  repeated DocumentProto matches = 15;
  NdArrayProto embedding = 16;
  google.protobuf.Struct tags = 17;
  map<string, NamedScoreProto> scores = 18;
  map<string, NamedScoreProto> evaluations = 19;
  google.protobuf.Struct _metadata = 20;
}
message DocumentArrayProto {
  repeated DocumentProto docs = 1;
}
`;

const JINA = `syntax = "proto3";
package jina;
import "docarray.proto";
import "google/protobuf/empty.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";

message StatusProto {
  enum StatusCode {
    SUCCESS = 0;
    ERROR = 1;
  }
  message ExceptionProto {
    string name = 1;
    repeated string args = 2;
    repeated string stacks = 3;
    string executor = 4;
  }
  StatusCode code = 1;
  string description = 2;
  ExceptionProto exception = 3;
}
message RouteProto {
  string executor = 1;
  google.protobuf.Timestamp start_time = 2;
  google.protobuf.Timestamp end_time = 3;
  StatusProto status = 4;
}
message HeaderProto {
  string request_id = 1;
  StatusProto status = 2;
  optional string exec_endpoint = 3;
  optional string target_executor = 4;
  optional uint32 timeout = 5;
}
message DataRequestProto {
  message DataContentProto {
    oneof documents {
      docarray.DocumentArrayProto docs = 1;
      bytes docs_bytes = 2;
    }
  }
  HeaderProto header = 1;
  google.protobuf.Struct parameters = 2;
  repeated RouteProto routes = 3;
  DataContentProto data = 4;
}
message DataRequestProtoWoData {
  HeaderProto header = 1;
  google.protobuf.Struct parameters = 2;
  repeated RouteProto routes = 3;
}
message DataRequestListProto {
  repeated DataRequestProto requests = 1;
}
message SingleDocumentRequestProto {
  HeaderProto header = 1;
  google.protobuf.Struct parameters = 2;
  repeated RouteProto routes = 3;
  docarray.DocumentProto document = 4;
}
message EndpointsProto {
  repeated string endpoints = 1;
  repeated string write_endpoints = 2;
  google.protobuf.Struct schemas = 3;
}
message JinaInfoProto {
  map<string, string> jina = 1;
  map<string, string> envs = 2;
}
service JinaRPC {
  rpc Call (stream DataRequestProto) returns (stream DataRequestProto);
}
service JinaSingleDataRequestRPC {
  rpc process_single_data (DataRequestProto) returns (DataRequestProto);
}
service JinaDataRequestRPC {
  rpc process_data (DataRequestListProto) returns (DataRequestProto);
}
service JinaDiscoverEndpointsRPC {
  rpc endpoint_discovery (google.protobuf.Empty) returns (EndpointsProto);
}
service JinaGatewayDryRunRPC {
  rpc dry_run (google.protobuf.Empty) returns (StatusProto);
}
service JinaInfoRPC {
  rpc _status (google.protobuf.Empty) returns (JinaInfoProto);
}
service JinaSingleDocumentRequestRPC {
  rpc stream_doc (SingleDocumentRequestProto) returns (stream SingleDocumentRequestProto);
}
`;

const STRUCT = `syntax = "proto3";
package google.protobuf;

message Struct {
  map<string, Value> fields = 1;
}
message Value {
  oneof kind {
    NullValue null_value = 1;
    double number_value = 2;
    string string_value = 3;
    bool bool_value = 4;
    Struct struct_value = 5;
    ListValue list_value = 6;
  }
}
enum NullValue {
  NULL_VALUE = 0;
}
message ListValue {
  repeated Value values = 1;
}
`;

const TIMESTAMP = `syntax = "proto3";
package google.protobuf;

message Timestamp {
  int64 seconds = 1;
  int32 nanos = 2;
}
`;

const EMPTY = `syntax = "proto3";
package google.protobuf;

message Empty {
}
`;

const HEALTH = `syntax = "proto3";
package grpc.health.v1;

message HealthCheckRequest {
  string service = 1;
}
message HealthCheckResponse {
  enum ServingStatus {
    UNKNOWN = 0;
    SERVING = 1;
    NOT_SERVING = 2;
    SERVICE_UNKNOWN = 3;
  }
  ServingStatus status = 1;
}
service Health {
  rpc Check (HealthCheckRequest) returns (HealthCheckResponse);
  rpc Watch (HealthCheckRequest) returns (stream HealthCheckResponse);
}
`;

const reflection = (name: string): string => `syntax = "proto3";
package ${name};

message ServerReflectionRequest {
  string host = 1;
  oneof message_request {
    string file_by_filename = 3;
    string file_containing_symbol = 4;
    ExtensionRequest file_containing_extension = 5;
    string all_extension_numbers_of_type = 6;
    string list_services = 7;
  }
}
message ExtensionRequest {
  string containing_type = 1;
  int32 extension_number = 2;
}
message ServerReflectionResponse {
  string valid_host = 1;
  ServerReflectionRequest original_request = 2;
  oneof message_response {
    FileDescriptorResponse file_descriptor_response = 4;
    ExtensionNumberResponse all_extension_numbers_response = 5;
    ListServiceResponse list_services_response = 6;
    ErrorResponse error_response = 7;
  }
}
message FileDescriptorResponse {
  repeated bytes file_descriptor_proto = 1;
}
message ExtensionNumberResponse {
  string base_type_name = 1;
  repeated int32 extension_number = 2;
}
message ListServiceResponse {
  repeated ServiceResponse service = 1;
}
message ServiceResponse {
  string name = 1;
}
message ErrorResponse {
  int32 error_code = 1;
  string error_message = 2;
}
service ServerReflection {
  rpc ServerReflectionInfo (stream ServerReflectionRequest) returns (stream ServerReflectionResponse);
}
`;

/** The .proto files, keyed by import path. */
export const PROTO_FILES: Readonly<Record<string, string>> = {
  'google/protobuf/empty.proto': EMPTY,
  'google/protobuf/struct.proto': STRUCT,
  'google/protobuf/timestamp.proto': TIMESTAMP,
  'docarray.proto': DOCARRAY,
  'jina.proto': JINA,
  'grpc/health/v1/health.proto': HEALTH,
  'grpc/reflection/v1/reflection.proto': reflection('grpc.reflection.v1'),
  'grpc/reflection/v1alpha/reflection.proto': reflection('grpc.reflection.v1alpha'),
};
