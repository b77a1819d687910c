import { describe, expect, it } from 'vitest';
import { tokenHash, visitNameTokens, visitTextTokens } from './tokens.ts';

function tokensBy(visitTokens: typeof visitNameTokens, text: string): string[] {
  const found: string[] = [];
  visitTokens(text, (hash, start, end) => {
    const token = text.slice(start, end).toLowerCase();
    expect(hash, token).toBe(tokenHash(token));
    found.push(token);
  });
  return found;
}

describe('names', () => {
  it.each([
    ['entry-content post_body', ['entry', 'content', 'post', 'body']],
    ['navBar mainNAV', ['nav', 'bar', 'main', 'nav']],
    ['post-123 h2', ['post']],
    ['css-1x9zk2q', ['css', 'zk']],
    ['a b cd', ['cd']],
    ['averyveryverylongword ok', ['ok']],
    ['', []],
  ])('%j are split into words', (text, tokens) => {
    expect(tokensBy(visitNameTokens, text)).toEqual(tokens);
  });
});

describe('texts', () => {
  it.each([
    ['read more…', ['read', 'more']],
    ['12 comments, 3d', ['comments', '3d']],
    ['«schließen» – über uns', ['schließen', 'über', 'uns']],
    ['続きを読む。次へ', ['続きを読む', '次へ']],
    ['2024 / 05', []],
  ])('%j are split into words', (text, tokens) => {
    expect(tokensBy(visitTextTokens, text)).toEqual(tokens);
  });
});
