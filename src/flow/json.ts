/** Documents and requests to and from JSON: one place to import from. */
export { BODY, type Issue, malformed, type Place, wrong, wrongValue } from './json-issues.ts';
export { documentOfString, type ReadOptions, readDocument, readRequest } from './json-read.ts';
export { base64Of, documentJson, isoTime, isoTimeZ, requestFrame, requestJson, statusObject } from './json-write.ts';
