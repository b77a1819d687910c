/** Contact pages and lists of addresses. */
import { type Shape, shape } from '../micro-page.ts';
import { inEach, people, places, times } from '../words.ts';

const branch = (at: number) => ({
  name: `Branch ${places(1, at)[0]}`,
  street: `${3 + 4 * at} Tanner Row`,
  phone: `555-01${String(20 + at)}`,
});

export const CONTACTS: readonly Shape[] = [
  shape('one address', 'Contact', () => ({
    html: '<p>Rope works Granger<br>17 Mill Lane<br>Oakmoor</p>\n<p>Telephone: 555-0117</p>\n<p>Mail: <a href="mailto:desk@ropes.example">desk@ropes.example</a></p>',
    keep: ['Rope works Granger', '17 Mill Lane', 'Oakmoor', 'Telephone: 555-0117', 'desk@ropes.example'],
  })),
  shape('address element', 'Where to find us', (names) => ({
    html: `<address${names('contact')}>Rope works Granger<br>17 Mill Lane<br>Oakmoor<br><a href="tel:5550117">555-0117</a></address>\n<p>The yard is behind the chapel.</p>`,
    keep: ['Rope works Granger', '17 Mill Lane', 'Oakmoor', '555-0117', 'The yard is behind the chapel'],
  })),
  ...[4, 17].map((count) =>
    shape(`${count} branches`, `Our ${count} branches`, (names) => {
      const all = times(count, branch);
      const html = all.map(
        ({ name, street, phone }) =>
          `<div${names('branch')}><h3>${name}</h3><p>${street}</p><p><a href="tel:${phone}">${phone}</a></p></div>`,
      );
      return {
        html: `<div${names('branches')}>${html.join('\n')}</div>`,
        keep: all.flatMap(({ name, street, phone }) => [name, street, phone]),
      };
    }),
  ),
  shape('table of people', 'Staff directory', (names) => {
    const staff = people(22, 44);
    const mails = staff.map((person) => `${person.toLowerCase().replace(' ', '.')}@ropes.example`);
    const rows = staff.map(
      (person, at) =>
        `<tr><td>${person}</td><td><a href="mailto:${mails[at]}">${mails[at]}</a></td><td>Room ${at + 101}</td></tr>`,
    );
    return {
      html: `<table${names('directory')}>${rows.join('\n')}</table>`,
      keep: [...staff, ...mails, ...staff.map((_, at) => `Room ${at + 101}`)],
    };
  }),
  shape('cards of microformats', 'Our partners', () => {
    const all = people(6, 200);
    const html = all.map(
      (person, at) =>
        `<div class="vcard"><span class="fn">${person}</span> <span class="adr"><span class="street-address">${at + 5} Kiln Street</span>, <span class="locality">Amber Cove</span></span></div>`,
    );
    return { html: html.join('\n'), keep: all.flatMap((person, at) => [person, `${at + 5} Kiln Street, Amber Cove`]) };
  }),
  shape(
    'German imprint',
    'Kontakt und Anfahrt',
    (names) => {
      const lines = [
        'Seilerei Brandt',
        'Mühlgasse 17',
        '01099 Eichmoor',
        'Telefon 0351 5550117',
        'Montags geschlossen',
      ];
      return { html: `<div${names('kontakt')}>${inEach('p', lines)}</div>`, keep: lines };
    },
    'de',
  ),
];
