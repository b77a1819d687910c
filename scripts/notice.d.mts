/** Types of the functions that tests use. */
export function noticeLines(lock: object, bundled: readonly string[]): string[];
export function withNoticeLines(notice: string, lines: readonly string[]): string;
