/** Mistral's files and OCR. */
import type { Problem } from '#errors.ts';
import type { ErrorWriter } from '#http/server.ts';
import type { CompatRoute, Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { OCR_FIELDS } from './fields.ts';
import { list, remove, sendContent, sendSigned, sendUrl, show, UPLOAD_FIELDS, upload } from './files.ts';
import { recognize } from './ocr.ts';

const STATUSES: StatusTable = {
  ParamValidationError: 422,
  SecurityCompromiseError: 422,
  TierFeatureConstraintError: 403,
  ModelNotFoundError: 404,
};

const pathOf = ({ facts: { path } }: Problem): string[] => (typeof path === 'string' ? path.split('.') : []);

const writeError: ErrorWriter = (failure, _, reply) => {
  const status = statusOf(failure, STATUSES);
  const { message } = failure;
  if (status === 422) {
    const loc = ['body', ...pathOf(failure).filter((name) => name !== 'body')];
    return sendJson(reply.code(status), { detail: [{ loc, msg: message, type: 'value_error' }] });
  }
  return sendJson(reply.code(status), {
    object: 'error',
    message,
    type: failure.name,
    param: null,
    code: String(failure.status),
  });
};

const fileRoute = (
  method: CompatRoute['method'],
  suffix: string,
  summary: string,
  handler: CompatRoute['handler'],
): CompatRoute => ({ method, url: `/v1/files${suffix}`, access: 'jobs', summary, handler });

export const mistral: Dialect = {
  name: 'mistral',
  title: 'Mistral OCR',
  keyPlaces: ['bearer'],
  writeError,
  routes: [
    {
      method: 'POST',
      url: '/v1/ocr',
      access: 'read',
      summary: 'Converts a document to the Markdown of its pages.',
      fields: OCR_FIELDS,
      handler: recognize,
    },
    { ...fileRoute('POST', '', 'Uploads a file for OCR.', upload), fields: UPLOAD_FIELDS },
    fileRoute('GET', '', 'Lists the files of the account.', list),
    fileRoute('GET', '/:id', 'Describes a file.', show),
    fileRoute('DELETE', '/:id', 'Deletes a file.', remove),
    fileRoute('GET', '/:id/content', 'Returns the content of a file.', sendContent),
    fileRoute('GET', '/:id/url', 'Returns a signed URL of a file.', sendUrl),
    {
      method: 'GET',
      url: '/mistral/files/:id',
      access: 'public',
      summary: 'Returns the content of a file by its signed URL.',
      handler: sendSigned,
    },
  ],
};
