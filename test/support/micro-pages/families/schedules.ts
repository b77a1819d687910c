/** Schedules: programs of events, opening hours, timetables. */
import { type Shape, shape } from '../micro-page.ts';
import { link, outings, people, places, times } from '../words.ts';

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const hour = (at: number) => `${8 + (at % 12)}:${at % 2 ? '45' : '15'}`;

export const SCHEDULES: readonly Shape[] = [
  shape('program of a day', 'Program of the festival', (names) => {
    const events = outings(10, 8);
    const speakers = people(10, 8);
    const html = events.map(
      (event, at) =>
        `<div${names('session')}><time>${hour(at)}</time><h3>${event}</h3><span${names('session', 'speaker')}>${speakers[at]}</span></div>`,
    );
    return { html: `<div${names('schedule')}>${html.join('\n')}</div>`, keep: [...events, ...speakers] };
  }),
  shape('opening hours', 'When we are open', (names) => {
    const hours = DAYS.map((_, at) => `${8 + at}:00 to ${15 + at}:30`);
    const html = DAYS.map((day, at) => `<tr><td>${day}</td><td>${hours[at]}</td></tr>`);
    return { html: `<table${names('hours')}>${html.join('\n')}</table>`, keep: [...DAYS, ...hours] };
  }),
  shape('opening hours in a list', 'Hours of the reading room', (names) => {
    const lines = DAYS.map((day, at) => `${day}: ${9 + (at % 3)} to ${17 + (at % 2)}`);
    return { html: `<ul${names('hours')}>${lines.map((line) => `<li>${line}</li>`).join('\n')}</ul>`, keep: lines };
  }),
  shape('timetable', 'Ferries on weekdays', (names) => {
    const stops = places(9);
    const rows = stops.map(
      (stop, at) => `<tr><th>${stop}</th>${times(5, (run) => `<td>${7 + run}.${10 + 4 * at}</td>`).join('')}</tr>`,
    );
    return {
      html: `<table${names('timetable')}>${rows.join('\n')}</table>`,
      keep: stops.map((stop, at) => `${stop} ${times(5, (run) => `${7 + run}.${10 + 4 * at}`).join(' ')}`),
    };
  }),
  shape('list of dates', 'Coming dates', (names) => {
    const events = outings(15, 48);
    const dates = times(15, (at) => `${at + 3} June 2024`);
    const html = events.map(
      (event, at) => `<li${names('event')}><span>${dates[at]}</span> ${link(event, 'events')}</li>`,
    );
    return { html: `<ul${names('events')}>${html.join('\n')}</ul>`, keep: [...events, ...dates] };
  }),
];
