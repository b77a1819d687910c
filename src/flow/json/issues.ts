/** Errors in a request's JSON, as the list of locations and reasons that existing clients expect. */
import { type Problem, problem } from '#errors.ts';

export interface Issue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** A location in the body as a linked list. The path is built only when there is an error. */
export interface JsonLocation {
  readonly parent?: JsonLocation;
  readonly key: string | number;
}

export const BODY: JsonLocation = { key: 'body' };

function pathOf(location: JsonLocation): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at: JsonLocation | undefined = location; at; at = at.parent) path.push(at.key);
  return path.reverse();
}

/** A SubmittedDataMalformedError (422) with the list of issues as its `facts.detail`. */
export const malformed = (detail: readonly Issue[]): Problem =>
  problem('SubmittedDataMalformedError', {
    message: detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '),
    detail,
  });

const REASONS = {
  list: ['value is not a valid list', 'type_error.list'],
  dict: ['value is not a valid dict', 'type_error.dict'],
  string: ['str type expected', 'type_error.str'],
  integer: ['value is not a valid integer', 'type_error.integer'],
  float: ['value is not a valid float', 'type_error.float'],
  null: ['none is not an allowed value', 'type_error.none.not_allowed'],
  missing: ['field required', 'value_error.missing'],
  base64: ['value is not valid base64', 'value_error.base64'],
  status: ['only STATUS can be sent here', 'value_error.const'],
  deep: ['value is nested too deeply', 'value_error.depth'],
} as const;

export function invalidAt(location: JsonLocation, ...reasons: (keyof typeof REASONS)[]): Problem {
  const loc = pathOf(location);
  return malformed(reasons.map((reason) => ({ loc, msg: REASONS[reason][0], type: REASONS[reason][1] })));
}

export const invalidValueAt = (location: JsonLocation, msg: string): Problem =>
  malformed([{ loc: pathOf(location), msg, type: 'value_error' }]);
