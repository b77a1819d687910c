/** A PNG of a page with two columns above a table, and the text of its columns. */
import { A4, BRIDGES, drawnPage, drawRows, drawText, RIVERS } from '#ocr/drawn-pages.suite.ts';

export const columnsPage = drawnPage(A4, (context) => {
  drawText(context, 'A Page of Two Columns', { left: 330, top: 100, width: 800, size: 44, bold: true });
  drawText(context, `${RIVERS} ${BRIDGES}`, { left: 110, top: 220, width: 480, size: 22 });
  drawText(context, `${BRIDGES} ${RIVERS}`, { left: 650, top: 220, width: 480, size: 22 });
  drawRows(context, { left: 110, top: 1_000, width: 240, size: 22 });
});
export const COLUMNS_TEXT = `A Page of Two Columns ${RIVERS} ${BRIDGES} ${BRIDGES} ${RIVERS}`;
