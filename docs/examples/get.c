#include <recmap/recmap.h>

int main(void) {
    recmap_dataset *dataset;
    recmap_error error = RECMAP_ERROR_INIT;
    if (recmap_dataset_open(&dataset, "digits.rmx", NULL, &error) != RECMAP_OK)
        return recmap_error_print(&error, stderr);
    recmap_record record;
    if (recmap_dataset_get(&record, dataset, 1234, &error) != RECMAP_OK)
        return recmap_error_print(&error, stderr);
    fwrite(record.data, 1, record.size, stdout);
    recmap_record_release(&record);
    recmap_dataset_close(dataset);
    return 0;
}
