/** The messages of generations 1 and 2 by their public field numbers, for tests with an independent codec. */
import protobuf from 'protobufjs';
import type { Peer } from './protocol.suite.ts';

const SHARED = `
message Value { oneof kind { int32 null_value = 1; double number_value = 2; string string_value = 3; bool bool_value = 4; Struct struct_value = 5; ListValue list_value = 6; } }
message Struct { map<string, Value> fields = 1; }
message ListValue { repeated Value values = 1; }
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
message DenseNdArrayProto { bytes buffer = 1; repeated uint32 shape = 2; string dtype = 3; int32 quantization = 4; }
message SparseNdArrayProto { DenseNdArrayProto indices = 1; DenseNdArrayProto values = 2; repeated uint32 shape = 3; }
message NdArrayProto { oneof content { DenseNdArrayProto dense = 1; SparseNdArrayProto sparse = 2; } }
message NamedScoreProto { float value = 1; string op_name = 2; string description = 3; repeated NamedScoreProto operands = 4; string ref_id = 5; }
message ExceptionProto { string name = 1; repeated string args = 2; repeated string stacks = 3; string executor = 4; }
message StatusProto { int32 code = 1; string description = 2; ExceptionProto exception = 3; }
message RouteProto { string pod = 1; string pod_id = 2; Timestamp start_time = 3; Timestamp end_time = 4; StatusProto status = 5; }
message DocsProto { repeated DocumentProto docs = 1; repeated DocumentProto groundtruths = 2; }
message ControlProto { int32 command = 1; bool propagate = 3; }
`;

const documentOf = (more: string) => `
message DocumentProto {
  string id = 1; oneof content { bytes buffer = 3; NdArrayProto blob = 12; string text = 13; }
  repeated DocumentProto chunks = 4; float weight = 5; repeated DocumentProto matches = 8; string uri = 9; string mime_type = 10;
  Struct tags = 11; uint32 granularity = 14; string parent_id = 16; repeated uint32 location = 17; uint32 offset = 18;
  NdArrayProto embedding = 19; string modality = 21; uint32 adjacency = 22; ${more}
}
`;

const GENERATION_1 = `
syntax = "proto3";
package test;
${SHARED}
${documentOf('string level_name = 15; NamedScoreProto score = 20; repeated NamedScoreProto evaluations = 23; string content_hash = 24; uint32 siblings = 25;')}
message QueryLangProto { string name = 1; Struct parameters = 2; bool disabled = 3; int32 priority = 4; }
message IdsProto { repeated string ids = 1; }
message RequestProto {
  string request_id = 1;
  oneof body { DocsProto train = 2; DocsProto index = 3; DocsProto search = 4; ControlProto control = 5; IdsProto delete = 9; DocsProto update = 10; }
  StatusProto status = 6; repeated QueryLangProto queryset = 7; repeated RouteProto routes = 8;
}
`;

const GENERATION_2 = `
syntax = "proto3";
package test;
${SHARED}
${documentOf('map<string, NamedScoreProto> scores = 28; map<string, NamedScoreProto> evaluations = 29;')}
message HeaderProto { string exec_endpoint = 1; string target_peapod = 2; bool no_propagate = 3; }
message RequestProto {
  string request_id = 1;
  oneof body { ControlProto control = 2; DocsProto data = 3; }
  HeaderProto header = 4; Struct parameters = 5; repeated RouteProto routes = 6; StatusProto status = 7;
}
`;

export function createOldPeer(generation: 1 | 2): Peer {
  const { root } = protobuf.parse(generation === 1 ? GENERATION_1 : GENERATION_2, { keepCase: true });
  const find = (name: string) => root.lookupType(`test.${name}`);
  return {
    encode: (message, value) => find(message).encode(find(message).fromObject(value)).finish(),
    decode: (message, bytes) => find(message).toObject(find(message).decode(bytes), { longs: Number, bytes: Array }),
  };
}
