/** Reads and writes documents and requests as JSON. */
export { BODY, type Issue, malformed, wrong } from './json-issues.ts';
export { readDocument, readRequest } from './json-read.ts';
export { base64Of, documentJson, isoTimeZ, requestFrame, requestJson, statusObject } from './json-write.ts';
