// An executor whose handler does nothing, as a user's module would define it.
import { Executor } from 'lectern/flow';

export class Idle extends Executor {
  static requests = { '/default': 'idle' };
  idle() {}
}
