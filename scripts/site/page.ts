/** The script of every documentation page. */
import './copy-buttons.ts';
import './scrollable-tables.ts';
import './search.ts';
