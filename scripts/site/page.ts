/** The script of every documentation page. */
import './copy-buttons.ts';
import './search.ts';
