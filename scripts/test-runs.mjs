// The results of `npm test`, which runs the files that did not pass a second time.

/** The tests by file after both runs, and a line for each test that passed only in the second. */
export function mergeRuns(first, second) {
  const lines = [];
  for (const [file, tests] of second) {
    const before = new Map(first.get(file)?.map((test) => [test.fullName, test]));
    for (const { fullName, status } of tests) {
      const earlier = before.get(fullName);
      if (status !== 'passed' || earlier?.status === 'passed') continue;
      const reason = earlier?.failureMessages[0]?.split('\n')[0] ?? 'the file was not finished';
      lines.push(`passed only when run alone: ${file} > ${fullName}: ${reason}`);
    }
  }
  return { results: new Map([...first, ...second]), lines };
}
