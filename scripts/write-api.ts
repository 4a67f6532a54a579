/** `npm run write -- api`: writes docs/api, one report for each entry of the packages that applications build on (not committed). */
import './build.ts';
import { writeReports } from './packages/api-reports.ts';

const problems = writeReports();
if (problems.length > 0) throw new Error(problems.join('\n'));
console.log('docs/api');
