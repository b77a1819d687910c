export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly base: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

/** Returns the stages of a Dockerfile. Throws an error that names an instruction which is not known. */
export function stagesOf(text: string): readonly Stage[];

/** The sources, the target and the stage of a COPY. */
export function copyOf(text: string): {
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
};

/** The variables of an ENV or ARG; an ARG without a value has none. */
export function variablesOf(text: string): Readonly<Record<string, string>>;
