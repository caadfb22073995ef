/** What the command says to scripts when it ends: a closed list. */
export const EXIT = {
  done: 0,
  failure: 1,
  usageOrConfig: 2,
  notFoundConflictOrInUse: 3,
  authenticationNeeded: 4,
  runEndedAsError: 5,
  refusedDowngrade: 6,
  waitTimedOut: 124,
} as const
