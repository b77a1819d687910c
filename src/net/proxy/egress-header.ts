import { randomBytes } from 'node:crypto';

/** Header of responses by the egress proxy itself. Its name is random, so that a target cannot forge it. */
export const EGRESS_HEADER = `x-lectern-egress-${randomBytes(12).toString('hex')}`;
