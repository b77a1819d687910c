/** Pages with very little text. */
import { type Shape, shape } from '../micro-page.ts';

const one = (name: string, title: string, html: string, keep: readonly string[]): Shape =>
  shape(name, title, () => ({ html, keep }));

export const SHORT_PAGES: readonly Shape[] = [
  one('one sentence', 'Closed today', '<p>The museum is closed today because of the storm.</p>', [
    'The museum is closed today because of the storm',
  ]),
  one('a sentence without paragraph', 'Moved', 'The archive has moved to Larch Wood.', [
    'The archive has moved to Larch Wood',
  ]),
  one('two words and a number', 'Result', '<div><b>Final score</b> 4 to 2</div>', ['Final score 4 to 2']),
  one(
    'a form',
    'Report a lamp',
    '<p>Which lamp is dark?</p>\n<form action="/lamps"><label>Number of the lamp <input name="lamp"></label><button>Send</button></form>',
    ['Which lamp is dark'],
  ),
  one('a download', 'Map of the paths', '<p>Download: <a href="/files/paths.pdf">Map of all paths, 2 MB</a></p>', [
    'Map of all paths, 2 MB',
  ]),
  one('an error', 'Page not found', '<p>There is no page at this place. It may have been renamed.</p>', [
    'There is no page at this place',
    'It may have been renamed',
  ]),
  one('a sentence with a list', 'Bring along', '<p>Please bring:</p>\n<ul><li>gloves</li><li>a lamp</li></ul>', [
    'Please bring',
    'gloves',
    'a lamp',
  ]),
];
