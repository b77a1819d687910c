/** The protocol's messages by their public field numbers, for tests with an independent codec. */
import protobuf from 'protobufjs';

/** `extra` is added to every message, as a later protocol version might do. */
const definitions = (extra: string) => `
syntax = "proto3";
package test;
message Value { oneof kind { int32 null_value = 1; double number_value = 2; string string_value = 3; bool bool_value = 4; Struct struct_value = 5; ListValue list_value = 6; } }
message Struct { map<string, Value> fields = 1; }
message ListValue { repeated Value values = 1; }
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
message DenseNdArrayProto { bytes buffer = 1; repeated uint32 shape = 2; string dtype = 3; ${extra} }
message SparseNdArrayProto { DenseNdArrayProto indices = 1; DenseNdArrayProto values = 2; repeated uint32 shape = 3; ${extra} }
message NdArrayProto { oneof content { DenseNdArrayProto dense = 1; SparseNdArrayProto sparse = 2; } string cls_name = 3; Struct parameters = 4; ${extra} }
message NamedScoreProto { float value = 1; string op_name = 2; string description = 3; string ref_id = 4; ${extra} }
message DocumentProto {
  string id = 1;
  oneof content { bytes blob = 2; NdArrayProto tensor = 3; string text = 4; }
  uint32 granularity = 5; uint32 adjacency = 6; string parent_id = 7; float weight = 8; string uri = 9; string modality = 10;
  string mime_type = 11; float offset = 12; repeated float location = 13; repeated DocumentProto chunks = 14;
  repeated DocumentProto matches = 15; NdArrayProto embedding = 16; Struct tags = 17;
  map<string, NamedScoreProto> scores = 18; map<string, NamedScoreProto> evaluations = 19; Struct _metadata = 20; ${extra}
}
message DocumentArrayProto { repeated DocumentProto docs = 1; }
message ExceptionProto { string name = 1; repeated string args = 2; repeated string stacks = 3; string executor = 4; ${extra} }
message StatusProto { int32 code = 1; string description = 2; ExceptionProto exception = 3; ${extra} }
message HeaderProto { string request_id = 1; StatusProto status = 2; optional string exec_endpoint = 3; optional string target_executor = 4; optional uint32 timeout = 5; ${extra} }
message RouteProto { string executor = 1; Timestamp start_time = 2; Timestamp end_time = 3; StatusProto status = 4; ${extra} }
message DataContentProto { oneof documents { DocumentArrayProto docs = 1; bytes docs_bytes = 2; } }
message DataRequestProto { HeaderProto header = 1; Struct parameters = 2; repeated RouteProto routes = 3; DataContentProto data = 4; ${extra} }
message DataRequestProtoWoData { HeaderProto header = 1; Struct parameters = 2; repeated RouteProto routes = 3; }
message DataRequestListProto { repeated DataRequestProto requests = 1; }
message SingleDocumentRequestProto { HeaderProto header = 1; Struct parameters = 2; repeated RouteProto routes = 3; DocumentProto document = 4; }
message EndpointsProto { repeated string endpoints = 1; repeated string write_endpoints = 2; Struct schemas = 3; ${extra} }
message JinaInfoProto { map<string, string> jina = 1; map<string, string> envs = 2; ${extra} }
message RelatedEntity { string id = 1; string address = 2; uint32 port = 3; optional uint32 shard_id = 4; ${extra} }
message ControlRequestProto { HeaderProto header = 1; uint32 command = 2; repeated RelatedEntity related_entities = 3; ${extra} }
message SnapshotId { string value = 1; }
message RestoreId { string value = 1; }
message SnapshotStatusProto { SnapshotId id = 1; uint32 status = 2; string snapshot_file = 3; }
message RestoreSnapshotStatusProto { RestoreId id = 1; uint32 status = 2; }
message RestoreSnapshotCommand { string snapshot_file = 1; }
`;

export type Plain = Record<string, unknown>;

export interface Peer {
  encode(message: string, value: Plain): Uint8Array;
  /** Omits defaults and converts int64 to numbers. */
  decode(message: string, bytes: Uint8Array): Plain;
}

function createPeer(extra: string): Peer {
  const { root } = protobuf.parse(definitions(extra), { keepCase: true });
  const find = (name: string) => root.lookupType(`test.${name}`);
  return {
    encode: (message, value) => find(message).encode(find(message).fromObject(value)).finish(),
    decode: (message, bytes) => find(message).toObject(find(message).decode(bytes), { longs: Number, bytes: Array }),
  };
}

export const createPeers = (): { today: Peer; later: Peer } => ({
  today: createPeer(''),
  later: createPeer('string later_text = 900; fixed64 later_number = 901; repeated bytes later_list = 902;'),
});
