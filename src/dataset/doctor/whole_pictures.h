/* Which features of a selection are pictures, as the whole data set shows. */
#ifndef RECMAP_DATASET_DOCTOR_WHOLE_PICTURES_H
#define RECMAP_DATASET_DOCTOR_WHOLE_PICTURES_H

#include "dataset/doctor/record_exam.h"

/* Marks the features of an exam, to which all records of a selection were added, that are pictures
 * in a sample of the whole data set. Does nothing for an exam of the whole data set. Errors:
 * NO_MEMORY, CANCELLED; IO if a remote store fails; CORRUPT (the index). */
recmap_status whole_pictures_mark(struct record_exam *exam, recmap_error *error);

#endif
