// `npm start`: runs the set-up, then the server. Arguments after `--` go to `lectern serve`.
import { dataDirOf, SetupError, setUp } from './setup.mjs';

try {
  const wantsBrowser = process.env.LECTERN_BROWSER !== 'none';
  await setUp({ dataDir: dataDirOf(process.env), browser: wantsBrowser });
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`lectern: ${error.message}`);
  process.exit(1);
}
const { main } = await import('../dist/main.js');
await main(['serve', ...process.argv.slice(2)]);
