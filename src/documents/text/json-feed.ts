import type { ParsedDocument } from '../document.ts';
export const readJsonFeed = (_text: string): ParsedDocument | undefined => undefined;
