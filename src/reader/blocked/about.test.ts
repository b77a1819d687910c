import { describe, expect, it } from 'vitest';
import { isExplanation, quotationsIn, withoutQuotations } from './about.ts';

describe('quotations', () => {
  it.each([
    ['it says \u201caccess denied\u201d twice', 'it says  \u2026  twice'],
    ['die meldung \u201ezugriff verweigert\u201c erscheint', 'die meldung  \u2026  erscheint'],
    ['le message \u00ab acc\u00e8s refus\u00e9 \u00bb', 'le message  \u2026 '],
    ['\u300cアクセス拒否\u300dと表示', ' \u2026 と表示'],
    ['the word "gone" alone', 'the word  \u2026  alone'],
    ['shop \u00bb pots \u00bb jugs', 'shop \u00bb pots \u00bb jugs'],
  ])('%s', (text, left) => expect(withoutQuotations(text)).toBe(left));

  it('stay if there is nothing else', () => {
    expect(withoutQuotations('\u201caccess denied\u201d')).toBe('\u201caccess denied\u201d');
    expect(quotationsIn('\u201caccess denied\u201d')).toEqual(['\u201caccess denied\u201d']);
  });
});

describe('explanations', () => {
  it.each([
    'what it means and how to fix it',
    'ursachen und lösungen',
    'que faire ?',
    'por qué pasa',
    'co dalej?',
    'nasıl çözülür?',
    'причины',
    'の原因と対処法',
    '是什么',
    '하는 방법',
  ])('%s', (title) => expect(isExplanation(title)).toBe(true));

  it.each(['page not found', 'seite nicht gefunden', 'accès refusé', 'доступ запрещён', '访问被拒绝'])(
    'not: %s',
    (title) => expect(isExplanation(title)).toBe(false),
  );
});
