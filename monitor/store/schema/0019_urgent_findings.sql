-- Some faults of a class page on the first verdict, others open a ticket. Which a finding holds is
-- told by signals of verdicts, so it is kept with the finding.

ALTER TABLE findings ADD COLUMN IF NOT EXISTS urgent Bool DEFAULT false;

ALTER TABLE finding_changes ADD COLUMN IF NOT EXISTS urgent Bool DEFAULT false;
