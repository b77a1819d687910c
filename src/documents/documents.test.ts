import { describeDocuments } from './documents.suite.ts';
import { createDocuments } from './documents.ts';
import { createLibreOffice } from './office/libreoffice.ts';

describeDocuments('documents on this machine', async ({ temporaryDir, program, ...limits }) =>
  createDocuments({
    processes: 1,
    memoryMb: 1_024,
    timeoutMs: 60_000,
    ...limits,
    libreoffice: createLibreOffice({ program, temporaryDir }),
  }),
);
