/** Documents and requests to and from JSON: one place to import from. */
export { BODY, type Issue, malformed, wrong } from './json-issues.ts';
export { readDocument, readRequest } from './json-read.ts';
export { base64Of, documentJson, isoTimeZ, requestFrame, requestJson, statusObject } from './json-write.ts';
