/**
 * A line break starts a new paragraph, on a single line it is a space (contract, 6.6). Hard breaks are for those who
 * ask; two of them in a row part paragraphs all the same.
 */
import { type Enter, SKIP } from '../state.ts';

export const lineBreak: Enter = (state) => {
  const { inline, options, singleLine } = state;
  if (options.lineBreaks === 'hard' && singleLine === 0 && !inline.endsLine) {
    if (!inline.empty) inline.lineBreak();
  } else if (inline.isOpen('link')) inline.gap();
  else state.flush();
  return SKIP;
};
