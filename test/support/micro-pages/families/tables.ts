/** Tables of data: results, statistics, layouts made of tables. */
import { type Shape, shape } from '../micro-page.ts';
import { inEach, link, people, places, remarks, times } from '../words.ts';

export const TABLES: readonly Shape[] = [
  shape('results', 'Results of the regatta', (names) => {
    const crews = people(30, 15);
    const rows = crews.map((crew, at) => `<tr><td>${at + 1}.</td><td>${crew}</td><td>${31 + at} min</td></tr>`);
    return {
      html: `<table${names('results')}><thead><tr><th>Rank</th><th>Crew</th><th>Time</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`,
      keep: ['Rank', 'Crew', 'Time', ...crews],
    };
  }),
  shape('numbers with a caption', 'Rain by month', (names) => {
    const rows = times(
      12,
      (at) => `<tr><th>Month ${at + 1}</th><td>${40 + 3 * at} mm</td><td>${9 + at} days</td></tr>`,
    );
    return {
      html: `<table${names('data')}><caption>Rain at the lower gauge</caption>${rows.join('\n')}</table>`,
      keep: ['Rain at the lower gauge', ...times(12, (at) => `Month ${at + 1} ${40 + 3 * at} mm ${9 + at} days`)],
    };
  }),
  shape('linked cells', 'Stations of the line', (names) => {
    const stations = places(16);
    const rows = stations.map((station, at) => `<tr><td>${link(station, 'stations')}</td><td>${at + 2} km</td></tr>`);
    return { html: `<table${names('stations')}>${rows.join('\n')}</table>`, keep: stations };
  }),
  shape('text in a layout table', 'An old home page', () => {
    const texts = remarks(6, 144);
    return {
      html: `<table width="100%" border="0"><tr><td valign="top">${inEach('p', texts.slice(0, 3))}</td><td valign="top">${inEach('p', texts.slice(3))}</td></tr></table>`,
      keep: texts,
    };
  }),
  shape('table of divisions', 'Standings', (names) => {
    const teams = places(10, 5);
    const rows = teams.map(
      (team, at) =>
        `<div role="row"${names('row')}><div role="cell">${team}</div><div role="cell">${40 - at} points</div></div>`,
    );
    return {
      html: `<div role="table"${names('standings')}>${rows.join('\n')}</div>`,
      keep: teams.flatMap((team, at) => [team, `${40 - at} points`]),
    };
  }),
];
