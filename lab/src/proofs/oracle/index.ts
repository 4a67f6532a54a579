/** The leak oracle as one module: the tests run it from a bundle. */
export { ORACLE_ENGINES } from '../world/symbolic-federation.ts';
export { runEverySituation } from './exhaustive.ts';
export { NO_SCHEDULES, runSchedules } from './many.ts';
export { learnedInPaper, PAPER_ATTACKS, paperLaw } from './paper.ts';
