/** Recipes: ingredients, steps and notes. */
import { type Shape, shape } from '../micro-page.ts';
import { inEach, times } from '../words.ts';

const INGREDIENTS = [
  '500 g rye flour',
  '2 tsp salt',
  '1 tbsp malt syrup',
  '380 ml lukewarm water',
  '80 g sunflower seeds',
  '1 cube of yeast',
];
const STEPS = [
  'Dissolve the yeast in the water and stir in the syrup.',
  'Work in flour and salt until the dough leaves the bowl.',
  'Leave it under a cloth for ninety minutes.',
  'Press the seeds into the crust and bake for an hour.',
];
const FACTS = ['Preparation: 20 minutes', 'Baking: 60 minutes', 'Makes one loaf'];

export const RECIPES: readonly Shape[] = [
  shape('lists', 'Rye bread with seeds', (names) => ({
    html: `<h2>Ingredients</h2>\n<ul${names('ingredients')}>${inEach('li', INGREDIENTS)}</ul>\n<h2>Method</h2>\n<ol${names('method')}>${inEach('li', STEPS)}</ol>`,
    keep: ['Ingredients', ...INGREDIENTS, 'Method', ...STEPS],
  })),
  shape('plugin of a blog', 'Grandmother’s rye bread', (names) => ({
    html: `<div${names('recipe')}><h2>Rye bread</h2><div${names('recipe', 'meta')}>${inEach('span', FACTS)}</div><ul${names('recipe', 'ingredients')}>${INGREDIENTS.map((item) => `<li><input type="checkbox"> ${item}</li>`).join('\n')}</ul><div${names('recipe', 'steps')}>${inEach('p', STEPS)}</div></div>`,
    keep: [...FACTS, ...INGREDIENTS, ...STEPS],
  })),
  shape('amounts in a table', 'Rye bread for two', (names) => {
    const rows = INGREDIENTS.map((item) => item.split(/ (?=[a-z]+ ?[a-z]*$)/)).map(
      (cells) => `<tr>${inEach('td', cells)}</tr>`,
    );
    return {
      html: `<table${names('amounts')}>${rows.join('\n')}</table>\n${inEach('p', STEPS)}`,
      keep: [...INGREDIENTS, ...STEPS],
    };
  }),
  shape('groups of ingredients', 'Bread and butter', (names) => {
    const groups = ['For the dough', 'For the crust'];
    const html = times(
      2,
      (at) =>
        `<h4>${groups[at]}</h4><ul${names('ingredients')}>${inEach('li', INGREDIENTS.slice(3 * at, 3 * at + 3))}</ul>`,
    );
    return { html: html.join('\n'), keep: [...groups, ...INGREDIENTS] };
  }),
  shape(
    'German recipe',
    'Roggenbrot',
    (names) => {
      const items = ['500 g Roggenmehl', '2 TL Salz', '1 EL Malzsirup', '380 ml Wasser', '1 Würfel Hefe'];
      const steps = [
        'Hefe im Wasser auflösen.',
        'Mehl und Salz einarbeiten.',
        'Teig anderthalb Stunden ruhen lassen.',
        'Eine Stunde backen.',
      ];
      return {
        html: `<h2>Zutaten</h2><ul${names('zutaten')}>${inEach('li', items)}</ul><h2>Zubereitung</h2><ol>${inEach('li', steps)}</ol>`,
        keep: ['Zutaten', ...items, 'Zubereitung', ...steps],
      };
    },
    'de',
  ),
];
