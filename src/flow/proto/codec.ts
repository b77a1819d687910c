/** Encoders and decoders of all protobuf messages. */
export {
  controlRequestProto,
  endpointsProto,
  infoProto,
  restoreSnapshotCommand,
  restoreSnapshotStatusProto,
  snapshotStatusProto,
} from './messages.ts';
export {
  decodeRequest,
  decodeRequestList,
  decodeSingleDocument,
  decodeStatus,
  encodeRequest,
  encodeRequestList,
  encodeSingleDocument,
  encodeStatus,
  encodeWithoutData,
} from './request.ts';
