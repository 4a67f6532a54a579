/** A refusal as an error to throw: the request is answered with its problem document. */
import {
  type ProblemCode,
  type ProblemDocument,
  type ProblemMore,
  problemDocument,
  problemOfRefusal,
  type Refused,
} from '@basa/protocol';

export class ServiceError extends Error {
  readonly document: ProblemDocument;

  constructor(document: ProblemDocument) {
    super(document.title);
    this.name = 'ServiceError';
    this.document = document;
  }
}

/** Ends the request with this refusal. */
export function fail(code: ProblemCode, more?: ProblemMore): never {
  throw new ServiceError(problemDocument(code, more));
}

/** Ends the request with a refusal of the core. */
export function answerRefusal(no: Refused): never {
  throw new ServiceError(problemOfRefusal(no));
}

/** Returns the answer of the core; if it is a refusal, ends the request with it. */
export function granted<Answer extends object>(answer: Answer | Refused): Answer {
  if ('kind' in answer && answer.kind === 'refused') answerRefusal(answer as Refused);
  return answer as Answer;
}
