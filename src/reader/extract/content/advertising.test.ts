/** Advertisements that say so are left out; text about advertising is not. */
import { expect, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { discountAdvertising } from './advertising.ts';

const readClass = createClassReader();

function isAdvertising(html: string): boolean {
  const surveyed = survey(find(parseDocument(`<body>${html}`), 'body')!, readClass);
  const probabilities = new Float32Array(surveyed.blocks.length).fill(0.9);
  const found = discountAdvertising(surveyed, probabilities);
  expect(probabilities[0]! < 0.1).toBe(found.has(0));
  return found.has(0);
}

test.each([
  '<p>Advertisement: kilns that never cool</p>',
  '<div><span>Publicidad: hornos de leña</span></div>',
  '<p>Contenu sponsorisé : des fours</p>',
  '<section>Werbung – Öfen zum halben Preis</section>',
  '<shreddit-ad-post>Promoted: the lightest kiln</shreddit-ad-post>',
  '<p>広告：窯</p>',
])('advertising: %s', (html) => expect(isAdvertising(html)).toBe(true));

test.each([
  '<li>Advertisement: how to book one</li>',
  '<h2>Advertisement: a history</h2>',
  '<p>Advertisements for kilns were forbidden in the town.</p>',
  '<p>Werbung für Öfen war verboten: niemand durfte sie zeigen.</p>',
  '<p>Advertisement</p>',
  '<p>Publicidad: anuncios@hornos.example</p>',
  '<p>Реклама: +7 495 123-45-67</p>',
  '<p>Anzeige: 15 Zoll, entspiegelt</p>',
  `<p>Advertisement: ${'a long story about kilns '.repeat(6)}</p>`,
])('text: %s', (html) => expect(isAdvertising(html)).toBe(false));
