/** h1 to h6, on one line each. */
import type { EnterHandler, LeaveHandler } from '../state.ts';

const leaveHeading: LeaveHandler = (state) => {
  const { heading: level, inline, blocks, options } = state;
  const underlined = options.headingStyle === 'setext' && level <= 2;
  const text = withoutOuterBold(inline.take(underlined));
  state.heading = 0;
  state.singleLine -= 1;
  if (text === '') return;
  blocks.announce(underlined ? 'underlined' : 'heading');
  if (underlined) {
    blocks.write(`${text}\n${(level === 1 ? '=' : '-').repeat(text.length)}`);
  } else blocks.write(`${'#'.repeat(level)} ${text.replace(/(^|\s)(#+)$/, '$1\\$2')}`);
};

/** Removes bold around a whole heading, because headings are bold anyway. Bold that highlights only a part is kept. */
const withoutOuterBold = (text: string): string => {
  const found = /^(\*\*|__)([^*_]+)\1$/.exec(text);
  return found ? found[2]! : text;
};

const heading =
  (level: number): EnterHandler =>
  (state) => {
    state.flush();
    if (state.singleLine > 0) return null;
    state.singleLine += 1;
    state.heading = level;
    return leaveHeading;
  };

export const headings: readonly (readonly [string, EnterHandler])[] = [1, 2, 3, 4, 5, 6].map((level) => [
  `h${level}`,
  heading(level),
]);
