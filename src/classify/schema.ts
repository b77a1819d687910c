/** Current database tables of the module, as created by the migrations. Times are milliseconds since 1970. */
export interface Tables {
  classifiers: {
    id: string;
    /** Id of the account; empty on a server that requires no keys. */
    owner: string;
    access: 'private' | 'public';
    model: string;
    /** JSON list, in order of first use. */
    labels: string;
    /** Vector length of the model. */
    dimensions: number;
    /** Little-endian float32: one row for each label, then the biases, then the mean. */
    weights: Uint8Array;
    samples: number;
    created_at: number;
    updated_at: number;
    /** Number of trainings after the first. */
    updated_number: number;
    used_at: number | null;
    used_number: number;
  };
  /** The samples of each training. All weights are computed anew from them. */
  classifier_samples: {
    classifier_id: string;
    /** Number of samples from earlier trainings. */
    start: number;
    /** JSON list of positions in `labels`. */
    labels: string;
    /** Little-endian float32. */
    vectors: Uint8Array;
  };
}
