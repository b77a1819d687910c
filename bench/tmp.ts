import { loadStaticModel } from '#models/static/model.ts';
import { createYielder } from '#models/static/steps.ts';

const model = await loadStaticModel();
const y = createYielder(new AbortController().signal);
const text = Array.from({ length: 200_000 }, (_, at) => `w${at}`).join(' ');
let c = process.cpuUsage();
let t = performance.now();
const { kept } = await model.reader.read(text, { yieldIfDue: y });
let d = process.cpuUsage(c);
console.log('read', d.user / 1000, performance.now() - t, kept.ids.length);
c = process.cpuUsage();
t = performance.now();
await model.whole(kept, y);
d = process.cpuUsage(c);
console.log('whole', d.user / 1000, performance.now() - t);
