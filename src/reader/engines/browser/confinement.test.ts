import { startBench } from './browser.suite.ts';
import { testConfinement } from './confinement.suite.ts';

testConfinement(startBench);
