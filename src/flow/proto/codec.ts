/** All messages of the wire: one place to import from. */
export {
  type Codec,
  controlRequestProto,
  endpointsProto,
  infoProto,
  relatedEntityProto,
  restoreId,
  restoreSnapshotCommand,
  restoreSnapshotStatusProto,
  snapshotId,
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
