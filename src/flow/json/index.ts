/** Reads and writes documents and requests as JSON. */
export { BODY, type Issue, invalidAt, malformed } from './issues.ts';
export { readDocument, readRequest } from './read.ts';
export { base64Of, documentJson, isoTimeZ, requestFrame, requestJson, statusObject } from './write.ts';
